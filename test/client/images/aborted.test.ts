import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { prepareImage, untilAborted } from "../../faces/client.ts";
import { refusal } from "./refusal.ts";
import { sampleOf } from "./samples.ts";

const png = sampleOf("png");

/** A stream that gives nothing. */
function stalled(): { stream: ReadableStream<Uint8Array>; cancelled: Promise<unknown> } {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  return { stream: new ReadableStream({ cancel: resolve }), cancelled: promise };
}

describe("an abort", () => {
  const reason = new Error("enough");

  test.each(["upl_1", "https://images.example/a.png", png])(
    "before the beginning leaves nothing to do",
    async (input) => {
      const signal = AbortSignal.abort(reason);
      await expect(prepareImage(input, signal)).rejects.toBe(reason);
    },
  );

  test("from before a wait ends it", async () => {
    const never = new Promise<never>(() => undefined);
    await expect(untilAborted(never, AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  test("ends a stream that gives nothing, and cancels it", async () => {
    const { stream, cancelled } = stalled();
    const controller = new AbortController();
    const reading = prepareImage(stream, controller.signal);
    controller.abort(reason);
    await expect(reading).rejects.toBe(reason);
    expect(await cancelled).toBe(reason);
  });

  test("destroys a Node stream", async () => {
    const stream = new PassThrough();
    const controller = new AbortController();
    const reading = prepareImage(stream, controller.signal);
    controller.abort(reason);
    await expect(reading).rejects.toBe(reason);
    expect(stream.destroyed).toBe(true);
  });

  test("ends a generator that waits for ever", async () => {
    async function* never(): AsyncGenerator<Uint8Array> {
      yield png.subarray(0, 10);
      await new Promise(() => undefined);
    }
    const controller = new AbortController();
    const reading = prepareImage(never(), controller.signal);
    controller.abort(reason);
    await expect(reading).rejects.toBe(reason);
  });

  test("ends the wait for a Blob", async () => {
    const blob = { size: 10, arrayBuffer: () => new Promise<ArrayBuffer>(() => undefined) };
    const controller = new AbortController();
    const reading = prepareImage(blob as Blob, controller.signal);
    controller.abort(reason);
    await expect(reading).rejects.toBe(reason);
  });

  test("leaves a stream of which the next try says why it cannot be read", async () => {
    const { stream } = stalled();
    const controller = new AbortController();
    const reading = prepareImage(stream, controller.signal);
    controller.abort(reason);
    await expect(reading).rejects.toBe(reason);
    const { message } = await refusal(() => prepareImage(stream));
    expect(message).toContain("was read before");
  });
});
