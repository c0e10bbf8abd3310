import { type ChildProcess, spawn } from "node:child_process";
import { pathToFileURL } from "node:url";

/** Prefix of a message, with its length in bytes. */
const HEAD = /^Content-Length: (\d+)\r\n(?:[^\r\n]+\r\n)*\r\n/;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** A place in a file, both numbers from 0. */
export interface Position {
  readonly line: number;
  readonly character: number;
}

/** The compiler's language server, which answers as it does for an editor. */
export class LanguageServer {
  readonly #process: ChildProcess;
  readonly #answers = new Map<number, (message: Message) => void>();
  #received = Buffer.alloc(0);
  #requests = 0;

  private constructor(process: ChildProcess) {
    this.#process = process;
    process.stdout?.on("data", (part: Buffer) => this.#receive(part));
  }

  /** @param compiler path of `tsc` */
  static async start(compiler: string): Promise<LanguageServer> {
    const stdio = ["pipe", "pipe", "ignore"] as const;
    const server = new LanguageServer(
      spawn(process.execPath, [compiler, "--lsp", "--stdio"], { stdio: [...stdio] }),
    );
    const textDocument = { hover: { contentFormat: ["markdown"] } };
    await server.#request("initialize", {
      ...{ processId: process.pid, rootUri: null, capabilities: { textDocument } },
    });
    server.#send({ method: "initialized", params: {} });
    return server;
  }

  /** Opens a file with a text, which need not be on disk. */
  open(path: string, text: string): void {
    const uri = pathToFileURL(path).href;
    const textDocument = { uri, languageId: "typescript", version: 1, text };
    this.#send({ method: "textDocument/didOpen", params: { textDocument } });
  }

  /** Resolves to the Markdown that an editor shows, or to "" if there is nothing at this place. */
  async hover(path: string, position: Position): Promise<string> {
    const textDocument = { uri: pathToFileURL(path).href };
    const result = await this.#request("textDocument/hover", { textDocument, position });
    const { contents }: { readonly contents?: { readonly value?: string } } = { ...Object(result) };
    return contents?.value ?? "";
  }

  /** Resolves to the names that an editor proposes. */
  async completions(path: string, position: Position): Promise<readonly string[]> {
    const textDocument = { uri: pathToFileURL(path).href };
    const result = await this.#request("textDocument/completion", { textDocument, position });
    const { items = [] }: { readonly items?: readonly { readonly label: string }[] } = {
      ...Object(result),
    };
    return items.map(({ label }) => label.replace(/\?$/, ""));
  }

  async stop(): Promise<void> {
    const exited = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.kill();
    await exited;
  }

  async #request(method: string, params: object): Promise<unknown> {
    this.#requests += 1;
    const id = this.#requests;
    const { promise, resolve } = Promise.withResolvers<Message>();
    this.#answers.set(id, resolve);
    this.#send({ id, method, params });
    const { result, error } = await promise;
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  #send(message: object): void {
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
    this.#process.stdin?.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.#process.stdin?.write(body);
  }

  #receive(part: Buffer): void {
    this.#received = Buffer.concat([this.#received, part]);
    for (;;) {
      const head = HEAD.exec(this.#received.toString("latin1", 0, 200));
      if (head === null) return;
      const start = head[0].length;
      const end = start + Number(head[1]);
      if (this.#received.length < end) return;
      const message: Message = JSON.parse(this.#received.toString("utf8", start, end));
      this.#received = this.#received.subarray(end);
      this.#handle(message);
    }
  }

  #handle({ id, method, ...answer }: Message): void {
    if (id === undefined) return;
    // The server's own requests, such as for settings, have no answer here.
    if (method !== undefined) this.#send({ id, result: null });
    else this.#answers.get(id)?.(answer);
  }
}
