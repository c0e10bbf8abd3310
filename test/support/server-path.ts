import { execFileSync } from "node:child_process";

/** Debian keeps servers where an ordinary user's PATH may not lead. */
export const SERVER_PATH: string = `${process.env.PATH}:/usr/local/sbin:/usr/sbin`;

/** Whether there is such a program: it tells its version, and ends well. */
export function isInstalled([command, ...args]: readonly [string, ...string[]]): boolean {
  try {
    execFileSync(command, args, { stdio: "ignore", env: { PATH: SERVER_PATH } });
    return true;
  } catch {
    return false;
  }
}
