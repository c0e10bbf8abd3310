export { type Endpoints, toExpress, toFetch, toNodeListener } from "../../src/receiver/adapters.ts";
export type { HealthOptions } from "../../src/receiver/health.ts";
export { beforeStart, Receiver, type ReceiverOptions } from "../../src/receiver/receive.ts";
export { type Listening, listen } from "../../src/receiver/server.ts";
