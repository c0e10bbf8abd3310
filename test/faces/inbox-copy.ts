export { tables } from "../../src/inbox/copy.ts";
