import { expect, test } from "vitest";
import { Bot, type BotOptions } from "../src/index.ts";

test.each<[BotOptions, string]>([
  [{ handlerTimeoutMs: 0 }, "handlerTimeoutMs must be from 1 to"],
  [{ handlerTimeoutMs: Number.POSITIVE_INFINITY }, "365 days"],
  [{ requestTimeoutMs: Number.NaN }, "requestTimeoutMs must be"],
  [{ requestRetries: 11 }, "requestRetries must be a whole number from 0 to 10"],
  [{ leaseMs: 999 }, "leaseMs must be a whole number from 1000 to"],
  [{ shutdownGraceMs: -1 }, "shutdownGraceMs must be from 0"],
  [{ maxBacklog: 0 }, "maxBacklog must be"],
  [{ minFreeBytes: -1 }, "minFreeBytes must be from 0 up"],
  [{ retry: { maxMs: 1e300 } }, "retry.maxMs must be"],
  [{ retry: { factor: -1 } }, "retry.factor must be"],
  [{ retention: { idsMs: -1 } }, "retention.idsMs must be"],
])("an option of a bot that is out of range is refused by name: %j", (options, message) => {
  expect(() => new Bot(options)).toThrow(
    expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining(message) }),
  );
});

test("all problems are told at once", () => {
  expect(() => new Bot({ maxBacklog: 0, minFreeBytes: -1 })).toThrow(
    /maxBacklog must be .*; minFreeBytes must be /,
  );
});

test("nothing is out of range in the usual options, and what is kept may be kept for ever", () => {
  expect(() => new Bot()).not.toThrow();
  expect(() => new Bot({ retention: { idsMs: Number.POSITIVE_INFINITY } })).not.toThrow();
});
