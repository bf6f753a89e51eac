package cdc_test
