import { join } from "node:path";
import { expect, test } from "vitest";
import { ownCommand } from "../faces/cli.ts";

test.each([
  ["/home/ada/my-bot/node_modules/.bin/service-bot", "npx service-bot"],
  ["/home/ada/.npm/_npx/12ab/node_modules/.bin/service-bot", "npx service-bot"],
  ["/home/ada/my-bot/node_modules/service-bot/dist/cli/main.js", "npx service-bot"],
  ["/usr/local/bin/service-bot", "service-bot"],
  [join(process.cwd(), "checkout/cli/main.ts"), "node checkout/cli/main.ts"],
  ["/else where/cli/main.ts", "node '/else where/cli/main.ts'"],
])("started as %s it is called %s", (script, command) => {
  expect(ownCommand(script)).toBe(command);
});
