// The official TypeScript client against `rheon mcp serve`: `client.mjs VERSION stdio PROGRAM [ARGUMENTS]` or `client.mjs VERSION http URL`.
// A call that needs approval is allowed once and denied once. Prints what came back.

import assert from 'node:assert';
import { existsSync } from 'node:fs';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [version, kind, target, ...rest] = process.argv.slice(2);
const mode = version === '2026-07-28' ? { pin: version } : 'legacy';
const client = new Client(
    { name: 'e2e', version: '1' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } }
);
let allow = false;
let asked = '';
client.setRequestHandler('elicitation/create', async request => {
    asked = request.params.message;
    return { action: 'accept', content: { allow } };
});
const transport =
    kind === 'stdio'
        ? new StdioClientTransport({ command: target, args: rest, env: process.env })
        : new StreamableHTTPClientTransport(new URL(target), {
              requestInit: { headers: { Authorization: `Bearer ${process.env.RHEON_MCP_TOKEN}` } }
          });
await client.connect(transport);
const { tools } = await client.listTools();
const names = tools.map(tool => tool.name);
assert(names.includes('run_agent'), names);
for (allow of [false, true]) {
    const file = `${kind}-${version}-${allow}.txt`;
    const progress = [];
    const result = await client.callTool(
        { name: 'run_agent', arguments: { prompt: `Write the file ${file}, please.` } },
        { onprogress: step => progress.push(step.message), timeout: 120_000 }
    );
    assert(asked.includes('output.txt'), asked);
    assert.equal(result.content[0].text, allow ? 'It is written.' : 'It was not allowed.');
    assert(result.structuredContent.session_id);
    assert.equal(progress.length, allow ? 1 : 0);
    assert.equal(existsSync('output.txt'), allow);
}
console.log(`${kind} ${version}: ${names.join(', ')}`);
await client.close();
