import { expect, test } from "vitest";
import { refuseTooLarge, sizeTable } from "../../scripts/pack/size.ts";

const packed = {
  name: "create-service-bot",
  version: "1.2.3",
  path: "x.tgz",
  packedBytes: 20_000,
  unpackedBytes: 60_000,
  files: 40,
};

test("a package of the usual size passes, and its sizes are printed", () => {
  expect(() => refuseTooLarge(packed)).not.toThrow();
  expect(sizeTable([packed])).toMatch(
    /create-service-bot 1\.2\.3 +20 kB packed, +60 kB unpacked, 40 files/,
  );
});

test("a scaffolder above 1 MB is refused, with the measure that is too large", () => {
  const large = { ...packed, unpackedBytes: 1_000_001 };
  expect(() => refuseTooLarge(large)).toThrow("unpackedBytes 1000001 of 1000000");
});

test("a package without a limit is refused", () => {
  expect(() => refuseTooLarge({ ...packed, name: "other" })).toThrow("no limit for other");
});
