import{A as f,h as o,w as t}from"/console/chunk-25KU4FFQ.js";function r(){return o(()=>location.reload(),[]),t(f,{})}export{r as default};
