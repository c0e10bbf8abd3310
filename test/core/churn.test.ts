import { describe, expect, test } from "vitest";
import { type Linked, LinkedSet, TransientMap } from "../faces/core.ts";

class Member implements Linked<Member> {
  previous: Member | undefined;
  next: Member | undefined;
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

const [a, b, c] = [new Member("a"), new Member("b"), new Member("c")];

const namesIn = (set: LinkedSet<Member>) => [...set].map(({ name }) => name).join("");

describe("a linked set", () => {
  test.each([
    { gone: [a], left: "bc" },
    { gone: [b], left: "ac" },
    { gone: [c], left: "ab" },
    { gone: [a, b], left: "c" },
    { gone: [c, b, a], left: "" },
  ])("keeps the order of insertion: $left", ({ gone, left }) => {
    const set = new LinkedSet<Member>();
    for (const member of [a, b, c]) set.add(member);
    for (const member of gone) expect(set.delete(member)).toBe(true);
    expect(namesIn(set)).toBe(left);
    expect(set.size).toBe(left.length);
    expect(set.first?.name).toBe(left.at(0));
    for (const member of [a, b, c]) expect(set.has(member)).toBe(left.includes(member.name));
    for (const member of [a, b, c]) set.delete(member);
  });

  test("counts a member once", () => {
    const set = new LinkedSet<Member>();
    set.add(a);
    set.add(a);
    expect(set.size).toBe(1);
    expect(set.delete(a)).toBe(true);
    expect(set.delete(a)).toBe(false);
    expect(set.size).toBe(0);
  });

  test("may lose the current member while it is read", () => {
    const set = new LinkedSet<Member>();
    for (const member of [a, b, c]) set.add(member);
    for (const member of set) set.delete(member);
    expect(set.size).toBe(0);
  });

  test("links a member that has left to no other", () => {
    const set = new LinkedSet<Member>();
    for (const member of [a, b, c]) set.add(member);
    set.delete(b);
    expect(b).toMatchObject({ previous: undefined, next: undefined });
    for (const member of [a, c]) set.delete(member);
  });
});

test("a transient map forgets what was deleted, also once it is copied", () => {
  const map = new TransientMap<number, string>();
  map.set(-1, "kept");
  for (let key = 0; key < 5_000; key += 1) {
    map.set(key, `${key}`);
    expect(map.get(key)).toBe(`${key}`);
    map.delete(key);
    map.delete(key);
    expect(map.get(key)).toBeUndefined();
    expect(map.size).toBe(1);
  }
  map.set(7, "again");
  expect([map.get(7), map.get(-1), map.size]).toEqual(["again", "kept", 2]);
});
