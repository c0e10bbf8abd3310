import { type StandardSchemaV1, validate } from "../core/standard-schema.ts";
import type { Chain } from "./chain.ts";
import { payloadInvalid } from "./event-types.ts";

/** Wraps a chain so that `ctx.payload` is the schema's output. */
export function checkPayload(schema: StandardSchemaV1, chain: Chain): Chain {
  return async (route) => {
    const { event } = route.context;
    route.setPayload(await read(schema, event.payload, `The payload of ${event.type}`));
    await chain(route);
  };
}

/** Wraps a chain so that `ctx.payload.data` is the schema's output. */
export function checkData(schema: StandardSchemaV1, chain: Chain): Chain {
  return async (route) => {
    const { event } = route.context;
    const payload: Readonly<Record<string, unknown>> = { ...event.payload };
    const data = await read(schema, payload["data"], `The data of ${event.type}`);
    route.setPayload({ ...payload, data });
    await chain(route);
  };
}

/** @throws {ServiceBotError} PAYLOAD_INVALID */
async function read(schema: StandardSchemaV1, value: unknown, what: string): Promise<unknown> {
  const result = await validate(schema, value);
  if (result.ok) return result.value;
  throw payloadInvalid(what, result.problem);
}
