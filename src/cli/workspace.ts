import { readConfig } from "../config.ts";
import { quietLog } from "../log.ts";
import { openWorkspace, type Workspace, type WorkspaceOptions } from "../service/workspace.ts";
import { requireDataFolder } from "../system/data-folder.ts";
import { explainingNoRoom } from "../system/no-room.ts";

/**
 * Opens the data folder for one command, even beside a running server, and closes it afterwards. Throws an
 * OperatorError when there is none, unless `create`.
 */
export async function withWorkspace<T>(
  work: (workspace: Workspace) => Promise<T>,
  options: WorkspaceOptions & { create?: boolean } = {},
): Promise<T> {
  const { create, ...open } = options;
  const config = readConfig(process.env);
  // With a cluster the folder holds nothing that could be missed.
  if (!create && !config.cluster) requireDataFolder(config.dataDir);
  const workspace = await explainingNoRoom(config.dataDir, () => openWorkspace(config, quietLog(), open));
  try {
    return await work(workspace);
  } finally {
    await workspace.store.close();
  }
}
