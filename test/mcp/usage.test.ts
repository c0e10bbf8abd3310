import { expect, onTestFinished, test, vi } from "vitest";
import { UsageError } from "../faces/cli.ts";
import { mcp } from "./face.ts";

test.each([
  [["--scopes", "read,write"], 'read,posts:write,comments:write,dm (got "write")'],
  [["--host", "0.0.0.0"], "--host and --allow-host need --http PORT."],
  [["--http", "many"], "--http takes a whole number from 0 to 65535"],
  [["--http", "0", "--allow-host", "https://mcp.example"], "--allow-host takes a host name"],
  [["extra"], 'Unexpected argument "extra".'],
])("%j is wrong usage", async (args, words) => {
  const refused = expect(mcp.run(args)).rejects;
  await refused.toThrow(UsageError);
  await refused.toThrow(words);
});

test("over stdio every missing variable is named at once", async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const name of ["SERVICE_BASE_URL", "SERVICE_API_KEY"]) vi.stubEnv(name, undefined);
  await expect(mcp.run([])).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringMatching(/SERVICE_BASE_URL.*SERVICE_API_KEY/s),
  });
});
