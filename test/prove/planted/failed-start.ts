/** No node starts. */
if (process.argv.includes("serve")) process.exit(7);
