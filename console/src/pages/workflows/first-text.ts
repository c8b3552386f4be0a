/** A workflow to begin with. */
export const firstText = `dsl: "1"
key: greeting
name: Greeting
timeout: 1h
input_schema:
  type: object
  properties: { name: { type: string, title: Name } }
  required: [name]
steps:
  - id: hello
    transform: { text: "='Hello ' + input.name" }
`;
