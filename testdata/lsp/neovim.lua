-- A real editor against `hcoplan lsp`: nvim --headless -u NONE -c 'luafile neovim.lua', with the
-- binary in HCOPLAN, a file in FILE, its workspace in ROOT. The file is mended and written.

local function check(condition, message)
  if not condition then
    io.stderr:write('neovim: ' .. message .. '\n')
    vim.cmd('cquit 1')
  end
end

vim.cmd('edit ' .. vim.fn.fnameescape(vim.env.FILE))
local client = vim.lsp.start_client({
  name = 'hcoplan',
  cmd = { vim.env.HCOPLAN, 'lsp' },
  root_dir = vim.env.ROOT,
  workspace_folders = { { uri = vim.uri_from_fname(vim.env.ROOT), name = 'root' } },
})
check(client, 'the server does not start')
vim.lsp.buf_attach_client(0, client)

local function shown()
  return vim.tbl_filter(function(d) return d.user_data.lsp.code == 'ignored-field' end, vim.diagnostic.get(0))
end
check(vim.wait(20000, function() return #shown() > 0 end, 20), 'no diagnostics')
local first = shown()[1]
local line = vim.api.nvim_buf_get_lines(0, first.lnum, first.lnum + 1, false)[1]
check(line:sub(first.col + 1, first.end_col) == 'nonRoot', 'the mark is at ' .. line:sub(first.col + 1))

local document = { uri = vim.uri_from_bufnr(0) }
local function ask(method, params)
  local answers, failed = vim.lsp.buf_request_sync(0, method, params, 20000)
  check(answers and answers[client] and not answers[client].err, method .. ': ' .. vim.inspect(failed or answers))
  return answers[client].result
end

local hover = ask('textDocument/hover', {
  textDocument = document,
  position = { line = first.lnum, character = first.col },
})
check(hover.contents.value:find('spec.featureGates.nonRoot', 1, true), vim.inspect(hover))

-- What is typed counts: the line goes and comes back.
vim.api.nvim_buf_set_lines(0, first.lnum, first.lnum + 1, false, {})
check(vim.wait(20000, function() return #shown() == 0 end, 20), 'a diagnostic stays: ' .. vim.inspect(shown()))
vim.api.nvim_buf_set_lines(0, first.lnum, first.lnum, false, { line })
check(vim.wait(20000, function() return #shown() > 0 end, 20), 'the diagnostic does not come back')

local place = { line = first.lnum, character = first.col }
local actions = ask('textDocument/codeAction', {
  textDocument = document,
  range = { start = place, ['end'] = place },
  context = { diagnostics = {} },
})
local preferred = vim.tbl_filter(function(action) return action.isPreferred end, actions)
check(#preferred == 1, vim.inspect(actions))
vim.lsp.util.apply_workspace_edit(preferred[1].edit, vim.lsp.get_client_by_id(client).offset_encoding)
vim.cmd('write')
check(vim.wait(20000, function() return #shown() == 0 end, 20), 'the finding is still there')

vim.lsp.stop_client(client)
check(vim.wait(20000, function() return vim.lsp.get_client_by_id(client) == nil end, 20), 'the server stays')
vim.cmd('quitall!')
