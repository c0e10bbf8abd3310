import { execFileSync } from "node:child_process";

/** Debian installs servers in folders that are not in an ordinary user's PATH. */
export const SERVER_PATH: string = `${process.env.PATH}:/usr/local/sbin:/usr/sbin`;

export function isInstalled([command, ...args]: readonly [string, ...string[]]): boolean {
  try {
    execFileSync(command, args, { stdio: "ignore", env: { PATH: SERVER_PATH } });
    return true;
  } catch {
    return false;
  }
}
