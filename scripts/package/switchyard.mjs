#!/usr/bin/env node
// `npx switchyard` starts the service, like `npm start` in a clone. With words, it is the CLI.
import { launch } from "./launcher.mjs";

const words = process.argv.slice(2);
launch(words.length === 0 ? ["serve"] : words);
