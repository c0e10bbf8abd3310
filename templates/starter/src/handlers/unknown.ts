import type { Context } from "service-bot";

/** Logs an event without a handler, such as a type that is newer than this version of service-bot. */
export async function onUnknown(ctx: Context): Promise<void> {
  ctx.log.info({ type: ctx.event.type }, "event of a type without a handler");
}
