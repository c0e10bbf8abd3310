import fc from "fast-check";
import { expect, test } from "vitest";
import { type RequestKind, RequestLimiter } from "../faces/client.ts";
import { ManualClock } from "../faces/testing.ts";

const START = 1_800_000_000_000;
const MINUTE = 60_000;

/** Time between a request's start and end. The platform counts the request at some point in this span. */
interface Span {
  readonly from: number;
  to: number;
}

interface Arrival {
  readonly kind: RequestKind;
  readonly pauseMs: number;
  readonly lastsMs: number;
  /** Maximum wait, in ms. A request still waiting by then is aborted. */
  readonly abortMs: number | undefined;
  readonly unsent: boolean;
}

const arrival: fc.Arbitrary<Arrival> = fc.record({
  kind: fc.constantFrom<RequestKind>("write", "read", "audit", "poll"),
  pauseMs: fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    { weight: 3, arbitrary: fc.nat(2_000) },
    { weight: 1, arbitrary: fc.nat(70_000) },
  ),
  lastsMs: fc.oneof(fc.constant(0), fc.nat(500), fc.nat(90_000)),
  abortMs: fc.option(fc.nat(90_000), { nil: undefined }),
  unsent: fc.nat(9).map((n) => n === 0),
});

async function run(perMinute: number, arrivals: readonly Arrival[]) {
  const clock = new ManualClock(START);
  const budget = new RequestLimiter({ perMinute, clock, random: () => 0.5 });
  const sent: Span[] = [];
  const outcomes: Promise<string>[] = [];
  const request = async ({ kind, lastsMs, abortMs, unsent }: Arrival): Promise<string> => {
    const abort = new AbortController();
    if (abortMs !== undefined) clock.timer(abortMs, () => abort.abort("aborted"));
    const place = await budget.take(kind, abort.signal).catch((error: unknown) => String(error));
    if (typeof place === "string") return place === "aborted" ? "aborted" : "spent";
    if (unsent) {
      place.giveBack();
      return "unsent";
    }
    const span: Span = { from: clock.now(), to: Number.POSITIVE_INFINITY };
    sent.push(span);
    clock.timer(lastsMs, () => {
      span.to = clock.now();
      place.end();
    });
    return "sent";
  };
  for (const each of arrivals) {
    if (each.pauseMs > 0) await clock.advance(each.pauseMs);
    outcomes.push(request(each));
  }
  // Long enough for every waiting request, even those with the lowest priority.
  await clock.advance((2 + (2 * arrivals.length) / perMinute) * 3 * MINUTE);
  return { sent, outcomes: await Promise.all(outcomes), status: budget.status };
}

/** Returns the most requests that the platform could count in any minute, whenever it counts each request. */
function fullest(sent: readonly Span[]): number {
  const inMinuteUpTo = (end: number) =>
    sent.filter(({ from, to }) => from <= end && to > end - MINUTE).length;
  return Math.max(0, ...sent.map(({ from }) => inMinuteUpTo(from)));
}

test("no minute has more requests than the budget, and every request is sent or refused", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 8 }),
      fc.array(arrival, { minLength: 1, maxLength: 60 }),
      async (perMinute, arrivals) => {
        const { sent, outcomes, status } = await run(perMinute, arrivals);
        expect(fullest(sent)).toBeLessThanOrEqual(perMinute);
        expect(outcomes.filter((outcome) => outcome === "sent")).toHaveLength(sent.length);
        expect(status).toEqual({ perMinute, left: perMinute, waiting: 0 });
        // Requests for the event log are never rejected.
        for (const [i, { kind }] of arrivals.entries()) {
          if (kind === "audit" || kind === "poll") expect(outcomes[i]).not.toBe("spent");
        }
      },
    ),
    { numRuns: 200 },
  );
}, 60_000);

test("the most is measured right: a token bucket would be caught", () => {
  const at = (...times: number[]) => times.map((t): Span => ({ from: t, to: t }));
  expect(fullest(at(0, 0, MINUTE, MINUTE))).toBe(2);
  expect(fullest(at(0, 0, MINUTE - 1))).toBe(3);
  expect(fullest([{ from: 0, to: 50_000 }, ...at(MINUTE)])).toBe(2);
});
