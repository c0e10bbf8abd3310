import type { ProvidedContext } from "vitest";

interface GivenPlatform {
  readonly provide: Partial<ProvidedContext>;
  readonly globalSetup: string;
}

export function givenPlatform(): GivenPlatform | undefined {
  const address = process.env["CONFORMANCE_URL"];
  if (address === undefined || address === "") return undefined;
  const url = URL.parse(address);
  const controlToken = /^#token=([\w-]+)$/.exec(url?.hash ?? "")?.[1];
  if (url === null || !/^https?:$/.test(url.protocol) || controlToken === undefined) {
    throw new Error(
      "CONFORMANCE_URL must be a portal's URL, such as http://127.0.0.1:4400/#token=…",
    );
  }
  return {
    provide: { conformanceUrl: url.origin, conformanceControlToken: controlToken },
    globalSetup: "test/platform/conformance/keep-state.ts",
  };
}
