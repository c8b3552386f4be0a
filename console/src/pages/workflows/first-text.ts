/** A workflow to begin with. */
export const firstText = `dsl: "1"
key: greeting
name: Greeting
timeout: 1h
steps:
  - id: hello
    transform: { text: "='Hello ' + input.name" }
`;
