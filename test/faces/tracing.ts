export { loadApi } from "../../src/tracing/api.ts";
