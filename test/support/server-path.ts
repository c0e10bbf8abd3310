import { execFileSync } from "node:child_process";

/** Debian installs servers outside an ordinary user's PATH. */
export const SERVER_PATH: string = `${process.env.PATH}:/usr/local/sbin:/usr/sbin`;

/** Returns true if a program's version command exits with 0. */
export function isInstalled([command, ...args]: readonly [string, ...string[]]): boolean {
  try {
    execFileSync(command, args, { stdio: "ignore", env: { PATH: SERVER_PATH } });
    return true;
  } catch {
    return false;
  }
}
