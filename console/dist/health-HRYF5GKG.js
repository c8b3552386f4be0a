import{h as o,w as t,z as f}from"/console/chunk-GWLONYPD.js";function r(){return o(()=>location.reload(),[]),t(f,{})}export{r as default};
