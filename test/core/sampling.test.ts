import { describe, expect, test } from "vitest";
import { createLogger, type Logger, Sampling, unsampled } from "../faces/core.ts";
import { ManualClock } from "../faces/testing.ts";
import type { LogRecord } from "../support/log.ts";

/** A logger that samples, its clock, and what it has written. */
function sampledLog() {
  const clock = new ManualClock();
  const sampling = new Sampling(clock);
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLogger({ level: "trace", secrets: [], sampling, destination });
  const records = (): LogRecord[] => lines.map((line) => JSON.parse(line));
  return { clock, sampling, log, records };
}

function times(count: number, work: (index: number) => void): void {
  for (let index = 0; index < count; index++) work(index);
}

const refused = { status: 401, code: "SIGNATURE_MISMATCH", reason: "no" };

describe("lines alike", () => {
  test("are written ten times in ten seconds; how many more there were is told when these end", async () => {
    const { clock, log, records } = sampledLog();
    times(4, () => log.warn(refused, "delivery refused"));
    await clock.advance(4_000);
    times(1_240, () => log.warn(refused, "delivery refused"));
    expect(records()).toHaveLength(10);
    await clock.advance(5_999);
    expect(records()).toHaveLength(10);
    await clock.advance(1);
    expect(records()).toHaveLength(11);
    const { time: _, ...told } = records().at(-1) as LogRecord;
    expect(told).toEqual({
      ...{ level: "warn", msg: "delivery refused", status: 401, code: "SIGNATURE_MISMATCH" },
      ...{ repeated: 1_234, spanMs: 4_000 },
    });
  });

  test("begin anew after that, and none is told of where none was left out", async () => {
    const { clock, log, records } = sampledLog();
    times(10, () => log.error("no"));
    await clock.advance(60_000);
    expect(records()).toHaveLength(10);
    times(11, () => log.error("no"));
    expect(records()).toHaveLength(20);
    await clock.advance(60_000);
    expect(records()).toHaveLength(21);
    expect(records().at(-1)).toMatchObject({ msg: "no", repeated: 1, spanMs: 0 });
    expect(clock.waiting).toBe(0);
  });

  test("are alike whatever else they hold, and the count has the error of the last one", async () => {
    const { clock, log, records } = sampledLog();
    const errorOf = (n: number) => Object.assign(new TypeError(`no ${n}`), { code: "E_NO" });
    times(12, (event) =>
      log.warn({ event, type: "mention", err: errorOf(event) }, "attempt failed"),
    );
    await clock.advance(10_000);
    expect(records()).toHaveLength(11);
    const told = records().at(-1);
    expect(told).toMatchObject({
      type: "mention",
      err: { type: "TypeError", code: "E_NO", message: "no 11" },
      repeated: 2,
    });
    expect(told).not.toHaveProperty("event");
  });

  test("of a child are counted with those of the others, without what is the child's own", async () => {
    const { clock, log, records } = sampledLog();
    times(12, (event) => log.child({ event }).error("no"));
    await clock.advance(10_000);
    expect(records()).toHaveLength(11);
    expect(records().at(-1)).not.toHaveProperty("event");
  });

  test("are told of at once by a flush", async () => {
    const { clock, log, records, sampling } = sampledLog();
    times(30, () => log.error("no"));
    times(3, () => log.error("once or thrice"));
    sampling.flush();
    expect(records()).toHaveLength(14);
    expect(records().at(-1)).toMatchObject({ msg: "no", repeated: 20 });
    expect(clock.waiting).toBe(0);
    sampling.flush();
    expect(records()).toHaveLength(14);
  });

  test("keep no process alive", () => {
    const background: (boolean | undefined)[] = [];
    const clock = new ManualClock();
    const timer: ManualClock["timer"] = (ms, fn, options) => {
      background.push(options?.background);
      return clock.timer(ms, fn, options);
    };
    const sampling = new Sampling({ now: () => clock.now(), timer });
    const destination = { write: () => undefined };
    const log = createLogger({ level: "trace", secrets: [], sampling, destination });
    times(20, () => log.error("no"));
    expect(background).toEqual([true]);
  });
});

describe("each line is written", () => {
  const error = (fields: object) => Object.assign(new Error("no"), fields);

  test.each<[string, (log: Logger, index: number) => void]>([
    ["of another message", (log, index) => log.warn(`no ${index}`)],
    ["of another status", (log, status) => log.warn({ status }, "no")],
    ["of another code", (log, index) => log.warn({ code: `E_${index}` }, "no")],
    ["of another type of event", (log, index) => log.warn({ type: `t${index}` }, "no")],
    [
      "with another code in its error",
      (log, n) => log.warn({ err: error({ code: `E${n}` }) }, "no"),
    ],
    ["with another type of error", (log, n) => log.warn({ err: error({ name: `E${n}` }) }, "no")],
    ["that tells what is done", (log) => log.info({ event: "1" }, "handled")],
    ["for whoever asked for more", (log) => log.debug("api")],
    ["of a dead letter", (log) => log.error({ err: new Error("no") }, "dead letter")],
    ["of a switch", (log) => log.warn({ mode: "polling" }, "polling takes over from the webhook")],
    [
      "of events that are dead at once",
      (log) => log.error("delivery with events that cannot be handled: see the dead letters"),
    ],
    ["that is fatal", (log) => log.fatal("no")],
    ["of somebody who gets all of them", (log) => unsampled(log).error("no")],
    [
      "of a child of theirs",
      (log) =>
        unsampled(log.child({ event: 1 }))
          .child({ a: 1 })
          .error("no"),
    ],
  ])("%s", async (_name, write) => {
    const { clock, log, records } = sampledLog();
    times(100, (index) => write(log, index));
    await clock.advance(10_000);
    expect(records()).toHaveLength(100);
    expect(records().filter(({ repeated }) => repeated !== undefined)).toEqual([]);
  });

  test("of more kinds than are counted", async () => {
    const { clock, log, records } = sampledLog();
    times(300, (code) => times(20, () => log.warn({ code }, "no")));
    expect(records()).toHaveLength(200 * 10 + 100 * 20);
    expect(clock.waiting).toBe(200);
    await clock.advance(10_000);
    expect(records().filter(({ repeated }) => repeated === 10)).toHaveLength(200);
    expect(clock.waiting).toBe(0);
  });

  test("by a logger that does not sample", () => {
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    const log = createLogger({ level: "info", secrets: [], destination });
    times(100, () => unsampled(log).error("no"));
    expect(lines).toHaveLength(100);
    expect(unsampled(log)).toBe(log);
  });
});
