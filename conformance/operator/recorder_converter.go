package main

import "sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

var recorderConverters = conversion.NewRegistry()

// GetConverterRegistry is part of the interface from controller-runtime 0.23 on; older trees are built without this file.
func (m *recorderManager) GetConverterRegistry() conversion.Registry { return recorderConverters }
