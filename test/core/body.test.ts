import { describe, expect, test } from "vitest";
import { BodyBudget, type BodyBuffer, BodyError } from "../faces/core.ts";
import { mulberry32 } from "../support/mulberry32.ts";

const KIB = 1_024;

function problemOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof BodyError) return error.problem;
    throw error;
  }
  return "none";
}

function begin(
  budget: BodyBudget,
  bytes: number,
  onGivenUp?: (error: BodyError) => void,
): BodyBuffer {
  const buffer = budget.open({ ...(onGivenUp && { onGivenUp }) });
  buffer.write(Buffer.alloc(bytes));
  return buffer;
}

describe("a body", () => {
  test("in single bytes takes no more than twice its length", () => {
    const buffer = new BodyBudget(1_000 * KIB).open();
    for (let index = 0; index < 60_000; index++) buffer.write(Buffer.of(index % 251));
    expect(buffer.heldBytes).toBeLessThanOrEqual(2 * 60_000);
    const body = buffer.take();
    expect(body).toHaveLength(60_000);
    expect(body.every((byte, index) => byte === index % 251)).toBe(true);
  });

  test("is the same bytes however it is cut", () => {
    const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
    const random = mulberry32(seed);
    for (let round = 0; round < 50; round++) {
      const body = Buffer.from(
        Uint8Array.from({ length: Math.floor(random() * 40_000) }, () => random() * 256),
      );
      const budget = new BodyBudget(100 * KIB);
      const buffer = budget.open();
      for (let at = 0; at < body.length; ) {
        const end = at + Math.floor(random() * 5_000);
        buffer.write(body.subarray(at, end));
        at = end;
      }
      expect(buffer.take().equals(body), `SEED=${seed}, round ${round}`).toBe(true);
      expect(budget.usedBytes).toBe(0);
    }
  });

  test("in any number of pieces of 512 bytes is kept", () => {
    const buffer = new BodyBudget(64 * 1_024 * KIB).open();
    const piece = Buffer.alloc(512);
    for (let count = 0; count < 70_000; count++) buffer.write(piece);
    expect(buffer.take().length).toBe(70_000 * 512);
  });

  test("in more small pieces than any sender needs is given up", () => {
    const buffer = new BodyBudget(1_000 * KIB).open();
    const byte = Buffer.of(1);
    const problem = problemOf(() => {
      for (let pieces = 0; pieces < 1_000_000; pieces++) buffer.write(byte);
    });
    expect(problem).toBe("fragmented");
    expect(buffer.heldBytes).toBe(0);
  });

  test("in one piece is not copied, and counts in the budget until it is taken", () => {
    const budget = new BodyBudget(10 * KIB);
    const buffer = budget.open({ length: 2 * KIB });
    const piece = Buffer.alloc(2 * KIB, 1);
    buffer.write(piece);
    expect(budget.usedBytes).toBe(2 * KIB);
    expect(buffer.take().buffer).toBe(piece.buffer);
    expect(budget.usedBytes).toBe(0);
  });

  test("without a byte is empty", () => {
    expect(new BodyBudget(0).open().take()).toHaveLength(0);
  });
});

describe("beyond the budget", () => {
  test("the oldest unfinished body is given up, and its later pieces are refused", () => {
    const budget = new BodyBudget(10 * KIB);
    const problems: string[] = [];
    const oldest = begin(budget, 4 * KIB, ({ problem }) => problems.push(problem));
    const second = begin(budget, 4 * KIB);
    const newest = begin(budget, 4 * KIB);
    expect(problems).toEqual(["busy"]);
    expect([oldest, second, newest].map(({ heldBytes }) => heldBytes)).toEqual([0, 4096, 4096]);
    expect(problemOf(() => oldest.write(Buffer.of(1)))).toBe("busy");
    expect(budget.usedBytes).toBe(8 * KIB);
  });

  test("a body of which nothing has come is no gain, so it stays", () => {
    const budget = new BodyBudget(10 * KIB);
    const waiting = budget.open();
    const oldest = begin(budget, 8 * KIB);
    begin(budget, 8 * KIB);
    expect(oldest.heldBytes).toBe(0);
    expect(problemOf(() => waiting.write(Buffer.of(1)))).toBe("none");
  });

  test("a body that is older than all others is the one that is given up", () => {
    const budget = new BodyBudget(10 * KIB);
    const oldest = begin(budget, 4 * KIB);
    const newer = begin(budget, 4 * KIB);
    expect(problemOf(() => oldest.write(Buffer.alloc(8 * KIB)))).toBe("busy");
    expect(newer.heldBytes).toBe(4 * KIB);
    expect(budget.usedBytes).toBe(4 * KIB);
  });

  test("a body that is complete gives way like any other until it is taken", () => {
    const budget = new BodyBudget(10 * KIB);
    const complete = begin(budget, 8 * KIB);
    complete.end();
    begin(budget, 4 * KIB);
    expect(problemOf(() => complete.take())).toBe("busy");
    expect(budget.usedBytes).toBe(4 * KIB);
  });

  test("bytes are free again once a body is taken, given up or released", () => {
    const budget = new BodyBudget(100 * KIB);
    begin(budget, 5 * KIB).take();
    begin(budget, 5 * KIB).giveUp("timeout");
    const released = begin(budget, 5 * KIB);
    released.release();
    released.release();
    expect(budget.usedBytes).toBe(0);
  });
});
