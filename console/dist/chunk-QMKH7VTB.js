import{n as o}from"/console/chunk-GTNWVUBY.js";var e={list:{verb:"GET",path:"/api/workflow-approvals",result:"cursor"}};function t(r){return o(r,e)}export{t as a};
