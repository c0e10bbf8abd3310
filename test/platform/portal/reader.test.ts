import { expect, test } from "vitest";
import { Reader, type ReadOutcome } from "./face.ts";

/** Lets the test choose the order in which reads resolve. */
function createReader() {
  const shown: ReadOutcome<string>[] = [];
  const readings: PromiseWithResolvers<string>[] = [];
  const read = () => {
    const reading = Promise.withResolvers<string>();
    readings.push(reading);
    return reading.promise;
  };
  const reader = new Reader(read, (outcome) => shown.push(outcome));
  return { reader, readings, shown };
}

test("under steady change each read is shown, even a slow one, and one more read follows", async () => {
  const { reader, readings, shown } = createReader();
  const done = reader.reload();
  for (const [index, text] of ["first", "second", "third"].entries()) {
    if (text !== "third") for (let changes = 0; changes < 3; changes += 1) void reader.reload();
    expect(readings).toHaveLength(index + 1);
    readings[index]?.resolve(text);
    if (text !== "third") await expect.poll(() => readings.length).toBe(index + 2);
  }
  await done;
  expect(shown.map(({ data }) => data)).toEqual(["first", "second", "third"]);
  void reader.reload();
  expect(readings).toHaveLength(4);
});

test("a failed read is shown with its error, and the next read without it", async () => {
  const { reader, readings, shown } = createReader();
  const failed = reader.reload();
  readings[0]?.reject("no answer");
  await failed;
  const read = reader.reload();
  readings[1]?.resolve("there");
  await read;
  expect(shown).toEqual([{ error: new Error("no answer") }, { data: "there", error: undefined }]);
});

test("a cancelled read is not shown, and does not delay the next", async () => {
  const { reader, readings, shown } = createReader();
  const dropped = reader.reload();
  reader.cancel();
  const done = reader.reload();
  readings[0]?.resolve("old");
  readings[1]?.resolve("new");
  await Promise.all([dropped, done]);
  expect(shown.map(({ data }) => data)).toEqual(["new"]);
});
