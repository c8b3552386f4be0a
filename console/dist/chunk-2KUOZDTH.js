import{U as e,a as s,e as l,ea as a}from"/console/chunk-NU4OG6N6.js";var p={curl:"curl",cli:"CLI",sdk:"TypeScript"};function f({title:t,children:r,samples:o,action:c}){let[i,d]=l("curl");return e("div",{class:"card empty",children:[e("h2",{children:t}),e("p",{children:r}),c,o!==void 0&&e(s,{children:[e("fieldset",{"aria-label":"Language of the sample",class:"segmented",children:Object.keys(p).map(n=>e("button",{"aria-pressed":i===n,onClick:()=>d(n),type:"button",children:p[n]},n))}),e(a,{text:o[i].replaceAll("$ORIGIN",location.origin)})]})]})}function u(t){let r=JSON.stringify(t.body);return{curl:`curl -sS -X ${t.verb??"POST"} '$ORIGIN${t.path}' \\
  -H "X-API-Key: $KEY" -H 'Content-Type: application/json' \\
  -d '${r}'`,cli:`service ${t.cli}`,sdk:`import { createClient } from "@switchyard/client";

const client = createClient({ baseUrl: "$ORIGIN", apiKey: process.env.KEY });
await client.${t.sdk};`}}export{f as a,u as b};
