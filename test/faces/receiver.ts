export {
  type Endpoints,
  type HealthOptions,
  toExpress,
  toFetch,
  toNodeListener,
} from "../../src/receiver/adapters.ts";
export { beforeStart, Receiver, type ReceiverOptions } from "../../src/receiver/receive.ts";
