package engine

import (
	"slices"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/builtin"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

var serverFillers = map[string]func(x *Exec, db *Database, out *rowFiller) error{
	"sys.configurations":      configurationRows,
	"sys.servers":             serverRows,
	"sys.time_zone_info":      timeZoneRows,
	"sys.dm_os_host_info":     hostRows,
	"sys.dm_os_windows_info":  windowsRows,
	"sys.dm_os_sys_info":      systemInfoRows,
	"sys.dm_exec_connections": connectionRows,
	"sys.syslanguages":        languageRows,
}

func serverRows(x *Exec, _ *Database, out *rowFiller) error {
	return out.add(fields{
		"server_id": integer(0), "name": text(x.serverName()), "data_source": text(x.serverName()), "modify_date": x.dateTime(x.in.started),
	})
}

// timeZoneRows are the zones that AT TIME ZONE knows, by name, with the offset
// that is in force now (MS docs: sys.time_zone_info).
func timeZoneRows(x *Exec, _ *Database, out *rowFiller) error {
	names := slices.Clone(builtin.ZoneNames())
	slices.Sort(names)
	for _, name := range names {
		zone, ok := builtin.LoadZone(name)
		if !ok {
			continue
		}
		now := x.Now().In(zone)
		if err := out.add(fields{
			"name": text(name), "current_utc_offset": text(now.Format("-07:00")), "is_currently_dst": boolean(now.IsDST()),
		}); err != nil {
			return err
		}
	}
	return nil
}

// onLinux reports whether the instance plays one on Linux: there is none of
// 2016.
func (in *Instance) onLinux() bool {
	return in.product.engineEdition == 0 && in.AtLeast(Release2017)
}

func hostRows(x *Exec, _ *Database, out *rowFiller) error {
	if !x.in.onLinux() {
		return out.add(fields{
			"host_platform": text("Windows"), "host_distribution": text("Windows Server 2019 Datacenter"), "host_release": text("10.0"),
			"host_service_pack_level": text(""), "host_sku": integer(8), "os_language_version": integer(1033),
		})
	}
	return out.add(fields{
		"host_platform": text("Linux"), "host_distribution": text("Ubuntu"), "host_release": text("22.04"), "host_service_pack_level": text(""),
	})
}

func windowsRows(x *Exec, _ *Database, out *rowFiller) error {
	if x.in.onLinux() {
		return nil
	}
	return out.add(fields{
		"windows_release": text("6.3"), "windows_service_pack_level": text(""), "windows_sku": integer(8), "os_language_version": integer(1033),
	})
}

func systemInfoRows(x *Exec, _ *Database, out *rowFiller) error {
	up := x.Now().Sub(x.in.started).Milliseconds()
	return out.add(fields{
		"cpu_ticks": integer(up * 1_000_000), "ms_ticks": integer(up), "sqlserver_start_time_ms_ticks": integer(0),
		"sqlserver_start_time": x.dateTime(x.in.started),
	})
}

func connectionRows(x *Exec, _ *Database, out *rowFiller) error {
	all := x.HasServerPermission("VIEW SERVER STATE")
	for _, s := range x.in.Sessions() {
		if s != x.s && !all {
			continue
		}
		since := x.dateTime(s.since)
		c := s.Connection()
		encrypted, address, port := "FALSE", "127.0.0.1", 49152+s.spid
		if c.Encrypted {
			encrypted = "TRUE"
		}
		if c.ClientAddress != "" {
			address, port = c.ClientAddress, c.ClientPort
		}
		handle := value{}
		if p := s.recentPlan.Load(); p != nil {
			handle = sqltypes.BytesOf(p.sqlHandle())
		}
		if err := out.add(fields{
			"most_recent_sql_handle": handle,
			"session_id":             integer(int64(s.spid)), "most_recent_session_id": integer(int64(s.spid)), "connect_time": since,
			"protocol_version": integer(int64(c.Protocol)), "encrypt_option": text(encrypted), "num_reads": integer(1), "num_writes": integer(1), "last_read": since,
			"last_write": since, "net_packet_size": integer(int64(c.PacketSize)), "client_net_address": text(address), "client_tcp_port": integer(int64(port)),
			"local_net_address": text("127.0.0.1"), "local_tcp_port": integer(1433), "connection_id": guidFor("connection " + itoa(int64(s.spid))),
		}); err != nil {
			return err
		}
	}
	return nil
}

// languageRows is the one language that messages are in.
func languageRows(_ *Exec, _ *Database, out *rowFiller) error {
	return out.add(fields{
		"langid": integer(0), "dateformat": text("mdy"), "datefirst": integer(7), "name": text("us_english"), "alias": text("English"),
		"months":      text("January,February,March,April,May,June,July,August,September,October,November,December"),
		"shortmonths": text("Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec"),
		"days":        text("Monday,Tuesday,Wednesday,Thursday,Friday,Saturday,Sunday"), "lcid": integer(1033), "msglangid": integer(1033),
	})
}

// configuration is an option of sp_configure (MS docs: Server configuration
// options).
type configuration struct {
	id                   int64
	name                 string
	initial, least, most int64
	description          string
	dynamic, advanced    bool
	since                Release
}

var configurations = []configuration{
	{id: 101, name: "recovery interval (min)", most: 32767, description: "Maximum recovery interval in minutes", dynamic: true, advanced: true},
	{id: 102, name: "allow updates", most: 1, description: "Allow updates to system tables", dynamic: true},
	{id: 103, name: "user connections", most: 32767, description: "Number of user connections allowed", advanced: true},
	{id: 106, name: "locks", least: 5000, most: 2147483647, description: "Number of locks for all users", advanced: true},
	{id: 107, name: "open objects", most: 2147483647, description: "Number of open database objects", advanced: true},
	{id: 109, name: "fill factor (%)", most: 100, description: "Default fill factor percentage", advanced: true},
	{id: 115, name: "nested triggers", initial: 1, most: 1, description: "Allow triggers to be invoked within triggers", dynamic: true},
	{id: 117, name: "remote access", initial: 1, most: 1, description: "Allow remote access"},
	{id: 124, name: "default language", most: 9999, description: "default language", dynamic: true},
	{id: 400, name: "cross db ownership chaining", most: 1, description: "Allow cross db ownership chaining", dynamic: true},
	{id: 503, name: "max worker threads", least: 128, most: 65535, description: "Maximum worker threads", dynamic: true, advanced: true},
	{id: 505, name: "network packet size (B)", initial: 4096, least: 512, most: 32767, description: "Network packet size", dynamic: true, advanced: true},
	{id: 518, name: "show advanced options", most: 1, description: "show advanced options", dynamic: true},
	{id: 1531, name: "cursor threshold", initial: -1, least: -1, most: 2147483647, description: "cursor threshold", dynamic: true, advanced: true},
	{id: 1536, name: "max text repl size (B)", initial: 65536, least: -1, most: 2147483647, description: "Maximum size of a text field in replication.", dynamic: true},
	{id: 1538, name: "cost threshold for parallelism", initial: 5, most: 32767, description: "cost threshold for parallelism", dynamic: true, advanced: true},
	{id: 1539, name: "max degree of parallelism", most: 32767, description: "maximum degree of parallelism", dynamic: true, advanced: true},
	{id: 1543, name: "min server memory (MB)", most: 2147483647, description: "Minimum size of server memory (MB)", dynamic: true, advanced: true},
	{id: 1544, name: "max server memory (MB)", initial: 2147483647, least: 128, most: 2147483647, description: "Maximum size of server memory (MB)", dynamic: true, advanced: true},
	{id: 1562, name: "clr enabled", most: 1, description: "CLR user code execution enabled in the server", dynamic: true},
	{id: 1577, name: "common criteria compliance enabled", most: 1, description: "Common Criteria compliance mode enabled", advanced: true},
	{id: 1579, name: "backup compression default", most: 1, description: "Enable compression of backups by default", dynamic: true},
	{id: 1580, name: "filestream access level", most: 2, description: "Sets the FILESTREAM access level", dynamic: true},
	{id: 1581, name: "optimize for ad hoc workloads", most: 1, description: "When this option is set, plan cache size is further reduced for single-use adhoc OLTP workload.", dynamic: true, advanced: true},
	{id: 1587, name: "clr strict security", initial: 1, most: 1, description: "CLR strict security enabled in the server", dynamic: true, advanced: true, since: Release2017},
	{id: 1588, name: "tempdb metadata memory-optimized", most: 1, description: "Tempdb metadata memory-optimized is disabled by default.", advanced: true, since: Release2019},
	{id: 16384, name: "Agent XPs", initial: 1, most: 1, description: "Enable or disable Agent XPs", dynamic: true, advanced: true},
	{id: 16386, name: "Database Mail XPs", most: 1, description: "Enable or disable Database Mail XPs", dynamic: true, advanced: true},
	{id: 16388, name: "Ole Automation Procedures", most: 1, description: "Enable or disable Ole Automation Procedures", dynamic: true, advanced: true},
	{id: 16390, name: "xp_cmdshell", most: 1, description: "Enable or disable command shell", dynamic: true, advanced: true},
	{id: 16391, name: "Ad Hoc Distributed Queries", most: 1, description: "Enable or disable Ad Hoc Distributed Queries", dynamic: true, advanced: true},
	{id: 16393, name: "contained database authentication", most: 1, description: "Enables contained databases and contained authentication", dynamic: true},
}

// configurations of the instance's release, by name.
func (in *Instance) configurations() []configuration {
	var list []configuration
	for _, c := range configurations {
		if in.AtLeast(c.since) {
			list = append(list, c)
		}
	}
	return list
}

// configured is the value of an option that sp_configure has set, and the one
// that RECONFIGURE has made effective.
func (in *Instance) configured(c configuration) (value, inUse int64) {
	in.settingsMu.Lock()
	defer in.settingsMu.Unlock()
	value, inUse = c.initial, c.initial
	if s, ok := in.serverSettings[c.name]; ok {
		value, inUse = s.configured, s.inUse
	}
	return value, inUse
}

// serverSetting is what became of a configuration option.
type serverSetting struct{ configured, inUse int64 }

func (in *Instance) configure(c configuration, n int64) {
	in.settingsMu.Lock()
	defer in.settingsMu.Unlock()
	s, ok := in.serverSettings[c.name]
	if !ok {
		s.inUse = c.initial
	}
	s.configured = n
	in.serverSettings[c.name] = s
}

// reconfigure makes what sp_configure has set effective. Options that need a
// restart take effect at once too: there is nothing here that they change.
func (in *Instance) reconfigure() {
	in.settingsMu.Lock()
	defer in.settingsMu.Unlock()
	for name, s := range in.serverSettings {
		s.inUse = s.configured
		in.serverSettings[name] = s
	}
}

// ServerSetting is the effective value of a server configuration option, as
// "max text repl size (B)"; 0 for a name that there is none of.
func (in *Instance) ServerSetting(name string) int64 {
	for _, c := range in.configurations() {
		if strings.EqualFold(c.name, name) {
			_, inUse := in.configured(c)
			return inUse
		}
	}
	return 0
}

func configurationRows(x *Exec, _ *Database, out *rowFiller) error {
	number := func(n int64) value { return sqltypes.VariantOf(integer(n), typeInt) }
	for _, c := range x.in.configurations() {
		configured, inUse := x.in.configured(c)
		if err := out.add(fields{
			"configuration_id": integer(c.id), "name": text(c.name), "value": number(configured), "minimum": number(c.least), "maximum": number(c.most),
			"value_in_use": number(inUse), "description": text(c.description), "is_dynamic": boolean(c.dynamic), "is_advanced": boolean(c.advanced),
		}); err != nil {
			return err
		}
	}
	return nil
}
