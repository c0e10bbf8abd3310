import { spawn } from "node:child_process";

/** What opens an address on each system; the others have that of the freedesktop. */
const openers: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  // A word of the shell; what is quoted first is the title of a window.
  win32: ["cmd", "/c", "start", ""],
};

/** Opens an address in the browser. Resolves to false where that fails, and to true once the opener has ended well. */
export function openInBrowser(
  url: string,
  system: NodeJS.Platform = process.platform,
  env: NodeJS.ProcessEnv = process.env,
): Promise<boolean> {
  const [command, ...args] = openers[system] ?? ["xdg-open"];
  return new Promise((resolve) => {
    // Detached: the browser may be a child of the opener, and stays when this ends.
    const child = spawn(command, [...args, url], { stdio: "ignore", detached: true, env });
    child.once("error", () => resolve(false));
    child.once("exit", (code) => resolve(code === 0));
    child.unref();
  });
}
