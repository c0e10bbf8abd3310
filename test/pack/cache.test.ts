import { readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { PackCache } from "../../scripts/pack/cache.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

function makeCheckout(duringPack: () => void = () => undefined) {
  const checkout = temporaryFolder();
  const folder = join(checkout, "kept");
  const source = join(checkout, "LICENSE");
  let packs = 0;
  const pack = async (out: string) => {
    packs += 1;
    const path = join(out, "service-bot-1.2.3.tgz");
    await mkdir(out, { recursive: true });
    writeFileSync(path, readFileSync(source));
    duringPack();
    return path;
  };
  const cache = new PackCache({ checkout, folder, pack });
  return {
    folder,
    packs: () => packs,
    write: (text: string) => writeFileSync(source, text),
    packed: async () => {
      const path = await cache.packServiceBot(join(temporaryFolder(), "new"));
      expect(basename(path)).toBe("service-bot-1.2.3.tgz");
      return readFileSync(path, "utf8");
    },
  };
}

test("an unchanged checkout is packed once", async () => {
  const { write, packed, packs } = makeCheckout();
  write("one");
  expect([await packed(), await packed()]).toEqual(["one", "one"]);
  expect(packs()).toBe(1);
});

test("a changed source is packed again, and the earlier tarball is still there", async () => {
  const { write, packed, packs } = makeCheckout();
  for (const text of ["one", "two", "one"]) {
    write(text);
    expect(await packed()).toBe(text);
  }
  expect(packs()).toBe(2);
});

test("two at once both get a whole tarball, and one is kept", async () => {
  const { write, packed, folder } = makeCheckout();
  write("one");
  expect(await Promise.all([packed(), packed()])).toEqual(["one", "one"]);
  expect(readdirSync(folder)).toHaveLength(1);
});

test("nothing is kept of a checkout that changed while it was packed", async () => {
  const checkout = makeCheckout(() => checkout.write("changed"));
  checkout.write("one");
  await checkout.packed();
  expect(readdirSync(checkout.folder)).toEqual([]);
});

test("the five tarballs that were used last are kept", async () => {
  const { write, packed, packs, folder } = makeCheckout();
  const pack = async (text: string) => {
    write(text);
    await packed();
  };
  for (const text of ["1", "2", "3", "4", "5"]) await pack(text);
  for (const path of readdirSync(folder).map((name) => join(folder, name))) {
    const second = Number(readFileSync(path, "utf8"));
    utimesSync(path, second, second);
  }
  await pack("1");
  await pack("6");
  expect(readdirSync(folder)).toHaveLength(5);
  await pack("1");
  expect(packs()).toBe(6);
  await pack("2");
  expect(packs()).toBe(7);
});
