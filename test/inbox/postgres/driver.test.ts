import { expect, test } from "vitest";
import { isOfTheServer } from "../../faces/inbox-postgres.ts";

const withCode = (code: string) => Object.assign(new Error("failed"), { code });

test.each(["42703", "42501", "53100", "XX000", "P0001", "25P02"])(
  "after an error with the server's code %s, the connection works",
  (code) => {
    expect(isOfTheServer(withCode(code))).toBe(true);
  },
);

test.each(["57P01", "57P05", "25P03", "25P04", "08P01", "EPIPE", "EPERM", "ECONNRESET", ""])(
  "after an error with the code %j, the connection is lost",
  (code) => {
    expect(isOfTheServer(withCode(code))).toBe(false);
  },
);
