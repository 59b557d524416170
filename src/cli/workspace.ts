import { readConfig } from "../config.ts";
import { openWorkspace, type Workspace, type WorkspaceOptions } from "../deps.ts";
import { quietLog } from "../log.ts";

/** Opens the data folder for one command, also beside a running server, and closes it afterwards. */
export async function withWorkspace<T>(
  work: (workspace: Workspace) => Promise<T>,
  options: WorkspaceOptions = {},
): Promise<T> {
  const workspace = openWorkspace(readConfig(process.env), quietLog(), options);
  try {
    return await work(workspace);
  } finally {
    await workspace.store.close();
  }
}
