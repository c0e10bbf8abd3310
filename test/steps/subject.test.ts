import { describe, expect, test } from "vitest";
import { subjectOf } from "../faces/steps.ts";
import { jobFor } from "../router/support.ts";

const actor = { username: "ada", name: "Ada" };
const comment = { actor, entityType: "comment", entityId: "cm_1" };

const subject = (type: string, payload: object) => subjectOf(jobFor(type, { ...payload }).event);

describe("the comment of an event", () => {
  test("is the same for its events of several types, whichever optional fields they have", () => {
    const refs = [
      subject("comment", { ...comment, commentId: "cm_1", excerpt: "nice, @bot" }),
      subject("mention", { ...comment, commentId: undefined, excerpt: undefined }),
      subject("reply", { ...comment, commentId: "cm_1", excerpt: undefined }),
    ];
    expect(new Set(refs.map((one) => one?.ref)).size).toBe(1);
    expect(new Set(refs.map((one) => one?.kindRef)).size).toBe(3);
  });

  test("differs between users", () => {
    const other = { ...comment, actor: { username: "ben", name: "Ben" } };
    expect(subject("reply", other)?.ref).not.toBe(subject("reply", comment)?.ref);
  });

  test.each([
    ["dm.message", comment],
    ["like", comment],
    ["mention", { actor, entityType: "post", entityId: "p_1", commentId: undefined }],
  ])("is none for %s %j", (type, payload) => {
    expect(subject(type, payload)).toBeUndefined();
  });
});
