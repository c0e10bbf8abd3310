import type { Context } from "service-bot";

/** An event type that is newer than this version of service-bot. It is noted and done with. */
export async function onUnknown(ctx: Context): Promise<void> {
  ctx.log.info({ type: ctx.event.type }, "event of a type without a handler");
}
