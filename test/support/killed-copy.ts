import { copyFileSync, existsSync } from "node:fs";

/** Copies an open inbox file to `left`, as a process killed at this point would leave it. Returns `left`. */
export function copyAsKilled(file: string, left: string): string {
  for (const end of ["", "-wal"]) {
    if (existsSync(`${file}${end}`)) copyFileSync(`${file}${end}`, `${left}${end}`);
  }
  return left;
}
