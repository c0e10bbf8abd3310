import { expect, test } from "vitest";
import { asShown, differences } from "../../scripts/tour/page.ts";

test("what varies makes no difference, and a word does", () => {
  const differ = (was: string, is: string) => differences(`## A\n${was}`, `## A\n${is}`);
  expect(differ("14:02:11 <-- [200] 9 ms", "08:00:00 <-- [200] 12 ms")).toEqual([]);
  expect(differ("14:02:11 <-- [200] 9 ms", "14:02:11 <-- [503] 9 ms")).toEqual([
    "## A",
    "- TIME <-- [200] N ms",
    "+ TIME <-- [503] N ms",
  ]);
  expect(differ("✔ npm install   4.2 s", "✔ npm install   11 s")).toEqual([]);
  expect(differ("service-bot 0.1.0", "service-bot 1.12.0")).toEqual([]);
  expect(differ("at 127.0.0.1:3000", "at 127.0.0.2:3000")).not.toEqual([]);
});

test("a line that comes once instead of twice makes a difference, and so does its scene", () => {
  const twice = "## A\nno\n## B\nyes\nyes\n";
  expect(differences(twice, twice)).toEqual([]);
  expect(differences(twice, "## A\nno\n## B\nyes\n")).toEqual(["## B", "- yes"]);
  expect(differences(twice, "## A\nno\nyes\n## B\nyes\n")).toEqual([
    "## A",
    "+ yes",
    "## B",
    "- yes",
  ]);
});

test("the order of lines makes a difference where one program writes them", () => {
  const order = "(the same lines in another order)";
  expect(differences("## A\none\ntwo\n", "## A\ntwo\none\n")).toEqual(["## A", order]);
  const [bot, platform] = ["[22:09:54] INFO: bot stopped", "22:09:54 stopping"];
  const [before, after] = [`## A\n${bot}\n${platform}`, `## A\n${platform}\n${bot}`];
  expect(differences(before, after)).toEqual([]);
});

test("a line that was written over is gone, and the ports are the usual ones", () => {
  const ports = new Map([[":24417", ":4400"]]);
  const printed = "$ npm run dev\n\n⠋ install  0 s\r✔ install\nat 127.0.0.1:24417\n";
  expect(asShown(printed, ports)).toBe("$ npm run dev\n✔ install\nat 127.0.0.1:4400\n");
});
