import{o}from"/console/chunk-SGY2FNRM.js";var e={list:{verb:"GET",path:"/api/workflow-approvals",result:"cursor"}};function t(r){return o(r,e)}export{t as a};
