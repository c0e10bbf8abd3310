export { expressFace, nodeFace, webFace } from "../../src/receiver/faces.ts";
export { Receiver, type ReceiverOptions } from "../../src/receiver/receiver.ts";
export type { RouteOptions } from "../../src/receiver/routes.ts";
export { type Listening, listen } from "../../src/receiver/server.ts";
