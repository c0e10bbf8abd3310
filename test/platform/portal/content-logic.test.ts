import { describe, expect, test } from "vitest";
import type { ControlComment } from "../../faces/platform.ts";
import { rolesIn, sift, threaded } from "./face.ts";

const ada = { username: "ada", name: "Ada", isBot: false };
const ben = { username: "ben", name: "Ben", isBot: false };
const bot = { username: "bot", name: "Bot", isBot: true };
const helper = { username: "helper", name: "Helper", isBot: true };

describe("who writes in a conversation", () => {
  test("the user, to the bot", () => {
    expect(rolesIn({ group: false, members: [ada, bot] }, "bot")).toEqual({
      from: "ada",
      to: "bot",
    });
  });

  test("of two bots the other bot, to the selected bot", () => {
    const members = [helper, bot];
    expect(rolesIn({ group: false, members }, "bot")).toEqual({ from: "helper", to: "bot" });
    expect(rolesIn({ group: false, members }, "helper")).toEqual({ from: "bot", to: "helper" });
  });

  test("no user in a group or in a conversation between two users; the page says why", () => {
    const group = rolesIn({ group: true, members: [ada, ben, bot] }, "bot");
    expect(group).toEqual({ closed: expect.stringContaining("cannot write to groups") });
    const people = rolesIn({ group: false, members: [ada, ben] }, "bot");
    expect(people).toEqual({ closed: expect.stringContaining("does not see it") });
  });
});

describe("comments are nested below the content they reply to", () => {
  const comment = (id: string, replyToId: string | null): ControlComment => {
    const written = { text: id, images: [], author: ada, createdAt: "" };
    return { id, type: "comment", postId: "p_1", replyToId, ...written };
  };
  const shown = (...comments: readonly ControlComment[]) =>
    threaded(comments).map(({ comment: { id }, depth }) => `${"-".repeat(depth)}${id}`);

  test("oldest first, indented three times at most", () => {
    const all = [
      ...[comment("a", null), comment("b", null), comment("c", "a"), comment("d", "c")],
      ...[comment("e", "d"), comment("f", "e"), comment("g", "a")],
    ];
    expect(shown(...all)).toEqual(["a", "-c", "--d", "---e", "---f", "-g", "b"]);
  });

  test("a reply to missing content is not nested", () => {
    expect(shown(comment("a", "gone"))).toEqual(["a"]);
  });

  test("a conversation between two bots may be thousands of replies deep", () => {
    const deep = Array.from({ length: 20_000 }, (_, index) =>
      comment(`c${index}`, index === 0 ? null : `c${index - 1}`),
    );
    expect(threaded(deep)).toHaveLength(20_000);
  });
});

describe("the images of a text", () => {
  const file = (name: string, type = "image/png", size = 9) =>
    new File([Buffer.alloc(size)], name, { type });
  const names = (files: readonly File[]) => files.map(({ name }) => name);

  test("are files that the platform accepts; others are rejected with the reason", () => {
    const files = [
      ...[file("a.png"), file("notes.txt", "text/plain"), file("unknown", "")],
      ...[file("empty.png", "image/png", 0), file("largest.gif", "image/gif", 5 * 1024 * 1024)],
      file("huge.avif", "image/avif", 5 * 1024 * 1024 + 1),
    ];
    const { taken, refused } = sift(files, 4);
    expect(names(taken)).toEqual(["a.png", "largest.gif"]);
    expect(refused).toEqual([
      expect.stringContaining("notes.txt: text/plain"),
      expect.stringContaining("unknown: a file of an unknown type"),
      expect.stringContaining("empty.png: the file is empty"),
      expect.stringContaining("huge.avif: 5.0 MB"),
    ]);
  });

  test("are limited to the free slots; the other files are named", () => {
    const { taken, refused } = sift(
      ["a", "b", "c"].map((name) => file(name)),
      2,
    );
    expect(names(taken)).toEqual(["a", "b"]);
    expect(refused).toEqual([expect.stringMatching(/Not added: c$/)]);
  });
});
