import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { Child } from "./child.ts";

/**
 * Stops the program with the signal that it reads from stdin. If the parent exits without sending one, also deletes the
 * program's data.
 */
const WITH_PARENT = `"$@" & child=$!; read how; said=$?
kill -"\${how:-INT}" $child; wait $child; [ $said = 0 ] || rm -rf "$0"`;

export interface ServerOptions extends Pick<SpawnOptions, "cwd" | "env" | "uid" | "gid"> {
  /** Folder to delete if the parent exits first. */
  readonly data: string;
}

/** A server that must not outlive its parent process. The parent can read its stderr. */
export class Server extends Child {
  readonly #shell: ChildProcess;

  constructor(command: readonly string[], { data, ...options }: ServerOptions) {
    const shell = spawn("sh", ["-c", WITH_PARENT, data, ...command], {
      ...options,
      stdio: ["pipe", "ignore", "pipe"],
      // Use a separate process group, so that a signal to the tests does not also kill this shell, which must stop the
      // server.
      detached: true,
    });
    super(shell);
    this.#shell = shell;
  }

  /**
   * Starts a server, and waits until it accepts connections.
   *
   * @param listening part of the line that the server then prints to stderr
   * @throws {Error} if the server ends before
   */
  static async start(
    command: readonly string[],
    listening: string,
    options: ServerOptions,
  ): Promise<Server> {
    const server = new Server(command, options);
    await server.line((line) => line.includes(listening), server.stderr);
    return server;
  }

  override kill(signal: NodeJS.Signals): void {
    if (!this.hasEnded) this.#shell.stdin?.end(`${signal.replace("SIG", "")}\n`);
  }
}
