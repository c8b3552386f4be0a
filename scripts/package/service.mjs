#!/usr/bin/env node
import { launch } from "./launcher.mjs";

launch(process.argv.slice(2));
