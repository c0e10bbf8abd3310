import { expect, test } from "vitest";
import { isAnswered } from "../../scripts/release-check/answer.ts";

const answer = { status: 201, text: "Hi Ada! You wrote: hello" };

function told(answers: readonly object[], outcome = "answered"): string {
  return JSON.stringify({ outcome, answers });
}

test("one answer in the words of the templates is what a bot must give", () => {
  expect(isAnswered(told([answer]))).toBe(true);
});

test.each([
  ["other words", told([{ ...answer, text: "Hi undefined! You wrote: hello" }])],
  ["a refused answer", told([{ ...answer, status: 403 }])],
  ["two answers", told([answer, answer])],
  ["none", told([])],
  ["none in time", told([answer], "timeout")],
  ["something else on standard output", "npm notice"],
])("%s will not do", (_, line) => {
  expect(isAnswered(line)).toBe(false);
});
