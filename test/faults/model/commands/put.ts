import assert from "node:assert/strict";
import fc, { type Arbitrary } from "fast-check";
import { hasCode } from "../../../faces/errors.ts";
import { orderKey } from "../../../faces/events.ts";
import type { CursorMove, NewEvent, Source } from "../../../faces/inbox.ts";
import { IDS } from "../ids.ts";
import type { InboxModel } from "../inbox-model.ts";
import { type Command, command, type Trial } from "../trial.ts";

export interface Batch {
  readonly events: readonly NewEvent[];
  readonly source: Source;
  readonly cursors: readonly CursorMove[];
  readonly trace: string | undefined;
}

const event: Arbitrary<NewEvent> = fc
  .record({ n: fc.nat(IDS.length - 1), broken: fc.integer({ min: 0, max: 9 }) })
  .map(({ n, broken }) => {
    const id = IDS[n] ?? "0";
    const type = n % 5 === 0 ? "follow" : "dm.message";
    const lane = `lane ${n % 3}`;
    const unusable = broken === 0 ? { unusable: `${id} cannot be read` } : {};
    return { id, type, lane, ord: orderKey(id), body: `{"id":"${id}"}`, ...unusable };
  });

export const batch: Arbitrary<Batch> = fc.record({
  events: fc.oneof(
    event.map((one) => [one]),
    fc.array(event, { maxLength: 6 }),
  ),
  source: fc.constantFrom("webhook", "poll"),
  cursors: fc.array(
    fc.record({
      name: fc.constantFrom("events", "other"),
      position: fc.nat(9).map(String),
    }),
    { maxLength: 2 },
  ),
  trace: fc.constantFrom(undefined, "a".repeat(32), `${"b".repeat(32)}-${"c".repeat(16)}-01`),
});

async function putInto(batch: Batch, model: InboxModel, trial: Trial): Promise<void> {
  const { events, source, cursors, trace } = batch;
  const { inbox } = trial.store;
  if (model.refuses(events)) {
    await assert.rejects(inbox.put(events, source, cursors, trace), { code: "INBOX_FULL" });
    return;
  }
  const expected = model.put(events, source, cursors, trace);
  assert.deepEqual(await inbox.put(events, source, cursors, trace), expected);
}

/**
 * Puts the batch while another call is making room. In a shared inbox, either of the two may run first, so a batch that
 * does not fit may be accepted or refused.
 *
 * @param act starts the other call on the store
 * @param compare makes the same call on the model, and compares the results
 */
export async function putBeside<T>(
  batch: Batch,
  act: () => Promise<T>,
  compare: (result: T) => void,
  model: InboxModel,
  trial: Trial,
): Promise<void> {
  const { events, source, cursors, trace } = batch;
  const { inbox } = trial.store;
  if (inbox.shared === undefined || !model.refuses(events)) {
    const putting = putInto(batch, model, trial);
    const [result] = await Promise.all([act(), putting]);
    compare(result);
    return;
  }
  const putting = inbox.put(events, source, cursors, trace).catch((error: unknown) => {
    if (hasCode(error, "INBOX_FULL")) return undefined;
    throw error;
  });
  const [result, put] = await Promise.all([act(), putting]);
  compare(result);
  if (put === undefined) return;
  assert.ok(!model.refuses(events), "a full inbox must reject the batch");
  assert.deepEqual(put, model.put(events, source, cursors, trace));
}

export const put: Arbitrary<Command> = batch.map((batch) =>
  command(`put ${show(batch)}`, (model, trial) => putInto(batch, model, trial)),
);

/** A batch with a failing statement leaves no trace, and the other batches in the same commit succeed. */
export const putBroken: Arbitrary<Command> = fc
  .tuple(batch, batch, fc.boolean())
  .map(([bad, good, byCursor]) =>
    command(
      `put ${show(bad)} with a broken ${byCursor ? "cursor" : "event"}, beside ${show(good)}`,
      async (model, trial) => {
        const { events, source, cursors, trace } = byCursor
          ? withBrokenCursor(bad)
          : withBrokenEvent(bad);
        const code = model.refuses(events) ? "INBOX_FULL" : "STORE_UNAVAILABLE";
        const refused = assert.rejects(trial.store.inbox.put(events, source, cursors, trace), {
          code,
        });
        await Promise.all([refused, putInto(good, model, trial)]);
      },
    ),
  );

function withBrokenCursor(batch: Batch): Batch {
  const broken: CursorMove = Object.assign({ name: "events", position: "" }, { position: null });
  return { ...batch, cursors: [...batch.cursors, broken] };
}

function withBrokenEvent(batch: Batch): Batch {
  const usual = { id: "broken", type: "follow", lane: "lane 0", ord: "", body: "" };
  const broken: NewEvent = Object.assign(usual, { type: null });
  return { ...batch, events: [...batch.events, broken] };
}

export function show({ events, source, cursors }: Batch): string {
  const ids = events.map(({ id, unusable }) => (unusable === undefined ? id : `${id}!`));
  const moves = cursors.map(({ name, position }) => `${name}=${position}`);
  return `[${ids.join(" ")}] by ${source}${moves.length > 0 ? ` with ${moves.join(" ")}` : ""}`;
}
