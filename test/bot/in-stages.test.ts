import { expect, test } from "vitest";
import { inStages } from "../faces/bot.ts";

const failing = (message: string) => () => Promise.reject(new Error(message));

test("a stage begins when the previous one is over, and a failure does not skip later stages", async () => {
  const done: string[] = [];
  const does = (name: string) => async () => {
    await Promise.resolve();
    done.push(name);
  };
  const throwing = () => {
    throw new Error("at once");
  };
  const stages = [[throwing, does("a"), does("b")], [() => undefined], [does("c")]];
  await expect(inStages(stages)).rejects.toThrow("at once");
  expect(done).toEqual(["a", "b", "c"]);
  await inStages(stages.slice(1));
});

test("several failures are reported together", async () => {
  const all = inStages([[failing("one")], [failing("two")]]);
  await expect(all).rejects.toMatchObject({ errors: [{ message: "one" }, { message: "two" }] });
});
