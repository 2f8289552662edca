-- Health of a HyperConverged for Argo CD, by the conditions that HCO reports.
local health = {status = "Progressing", message = "HCO has reported nothing yet"}
local status = obj.status
if status == nil or status.conditions == nil then
  return health
end
local generation = obj.metadata and obj.metadata.generation
if generation ~= nil and status.observedGeneration ~= nil and status.observedGeneration < generation then
  health.message = "HCO has not seen the last change yet"
  return health
end
local known = {}
for _, condition in ipairs(status.conditions) do
  known[condition.type] = condition
end
local function says(kind, value)
  return known[kind] ~= nil and known[kind].status == value
end
local function because(kind)
  return (known[kind].reason or kind) .. ": " .. (known[kind].message or "")
end
if says("Degraded", "True") then
  return {status = "Degraded", message = because("Degraded")}
end
-- Before its first reconcile HCO says so with the reason Init; any other one is a failure.
if says("ReconcileComplete", "False") and known.ReconcileComplete.reason ~= "Init" then
  return {status = "Degraded", message = because("ReconcileComplete")}
end
if says("Progressing", "True") then
  return {status = "Progressing", message = because("Progressing")}
end
if says("Available", "True") then
  return {status = "Healthy", message = because("Available")}
end
if says("Available", "False") then
  health.message = because("Available")
end
return health
