import { expect, test } from "vitest";
import { certificateFaultIn } from "../faces/core.ts";

test("a certificate's fault is found behind its causes, and an error that causes itself has none", () => {
  const expired = Object.assign(new Error("expired"), { code: "CERT_HAS_EXPIRED" });
  const failed = new TypeError("fetch failed", { cause: new AggregateError([expired]) });
  expect(certificateFaultIn(failed)).toBe("expired");
  const cyclic: Error = new Error("again");
  cyclic.cause = cyclic;
  expect(certificateFaultIn(cyclic)).toBeUndefined();
});
