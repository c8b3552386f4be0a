import { testGuides } from "./guide-tests.ts";

testGuides(1);
