import { OperatorError } from "../core/errors.ts";

/** Where the service listens: CARDPRESS_HOST and CARDPRESS_PORT. */
export interface ListenAddress {
  host: string;
  port: number;
}

/**
 * Runs `open`, which binds the address given by `variables`_HOST and _PORT. Throws an OperatorError naming
 * the variable and the remedy when that fails.
 */
export function bind<Server>(address: ListenAddress, open: () => Server, variables = "CARDPRESS"): Server {
  try {
    return open();
  } catch (cause) {
    const refusal = refusalOf((cause as { code?: unknown }).code, address, variables);
    throw refusal === undefined ? cause : new OperatorError(refusal);
  }
}

function refusalOf(code: unknown, { host, port }: ListenAddress, variables: string): string | undefined {
  switch (code) {
    case "EADDRINUSE":
      return `Port ${port} of ${host} is taken by another program. Stop that one, or set ${variables}_PORT to a free port.`;
    case "EACCES":
      return `This user may not listen on port ${port} of ${host}. Set ${variables}_PORT to a port from 1024 up.`;
    case "EADDRNOTAVAIL":
      return `This machine has no address ${host}. Set ${variables}_HOST to one it has, such as 127.0.0.1, or to 0.0.0.0 for all of them.`;
    default:
      return undefined;
  }
}
